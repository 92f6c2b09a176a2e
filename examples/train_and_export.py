"""Train on scikit-learn's breast cancer data and write verified C: ten lines from arrays to firmware source."""

import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsegen
from sparsegen.devices import DEVICES

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "train-and-export")
X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

pipeline = make_pipeline(StandardScaler(), sparsegen.SLMC(n_vectors=6, random_state=0)).fit(X_train, y_train)
model = sparsegen.from_sklearn(pipeline)  # the scaler is folded in: the C takes raw features
model.save(folder / "cancer.safetensors")
export = model.export("c", folder, name="cancer")

print(f"{pipeline.score(X_test, y_test):.1%} with {model.n_vectors} vectors, {export.table_bytes} bytes of tables")
print(f"files in {folder}: {', '.join(sorted(export.files))}")
if DEVICES["host"].missing() is None:  # a C compiler, to run every test row as the firmware would
    print(model.verify(X_test, y_test, device="host"))
