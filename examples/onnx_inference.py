"""Export to ONNX and run it with onnxruntime: the same labels, from a file any runtime can load."""

import numpy as np
import onnxruntime
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

import sparsegen

data = load_iris()
X_train, X_test, y_train, _ = train_test_split(data.data, data.target_names[data.target], random_state=0)
classifier = sparsegen.SLMC(n_vectors=6, random_state=0).fit(X_train, y_train)

graph = classifier.model_.export("onnx", name="iris").files["iris.onnx"]
session = onnxruntime.InferenceSession(graph)
labels, scores = session.run(None, {"X": X_test.astype(np.float32)})

print(f"{len(graph)} bytes of ONNX; first labels: {', '.join(labels[:3])}")
differing = np.count_nonzero(labels != classifier.predict(X_test))
print(f"labels that differ from scikit-learn: {differing} of {len(labels)}")
print(f"largest score difference: {np.abs(scores - classifier.decision_function(X_test)).max():.1e}")
