"""What does a sparse classifier look at? Draw the expansion vectors of scikit-learn's digits."""

import sys
from pathlib import Path

from sklearn.datasets import load_digits

import sparsegen
from sparsegen.model.draw import as_text, vector_images, write_png

path = Path(sys.argv[1] if len(sys.argv) > 1 else "digit-vectors.png")
X, y = load_digits(return_X_y=True)
classifier = sparsegen.SLMC(n_vectors=20, random_state=0).fit(X, y)

images = vector_images(classifier.model_, (8, 8))
write_png(images, path)
print(as_text(images[:5], columns=90))
print(f"all {len(images)} vectors are in {path}; training accuracy {classifier.score(X, y):.1%}")
