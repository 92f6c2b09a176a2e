"""Where does a classifier decide what, and where is it unsure? Draw its regions over two features of irises."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

import sparsegen

path = Path(sys.argv[1] if len(sys.argv) > 1 else "iris-regions.png")
iris = load_iris()
X, y = iris.data[:, 2:], iris.target_names[iris.target]  # petal length and width
model = sparsegen.SLMC(n_vectors=5, gamma=0.5, C=10, probability=True, random_state=0).fit(X, y).model_

low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
lengths, widths = np.meshgrid(*np.linspace(low, high, 200).T)
plane = np.column_stack([lengths.ravel(), widths.ravel()])
labels = model.predict_index(plane).reshape(lengths.shape)
is_unknown = model.predict_or_reject(plane, 0.8).reshape(lengths.shape) < 0

figure = Figure(figsize=(6, 4), layout="constrained")
axes = figure.subplots()
colours = ["tab:blue", "tab:orange", "tab:green"]
axes.contourf(lengths, widths, labels, levels=[-0.5, 0.5, 1.5, 2.5], colors=colours, alpha=0.3)
axes.contourf(lengths, widths, is_unknown, levels=[0.5, 1.5], colors="none", hatches=["///"])
for name, colour in zip(model.classes, colours, strict=True):
    axes.plot(*X[y == name].T, ".", color=colour, label=name)
axes.plot(*model.transform.inverse(model.vectors).T, "k*", markersize=11, label="expansion vectors")
axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="petal length, cm", ylabel="petal width, cm")
axes.set_title("hatched: below a probability of 0.8, where predict_or_reject says unknown", fontsize=10)
axes.legend(loc="upper left", fontsize=8)
figure.savefig(path)

print(f"regions of {model.n_vectors} vectors are in {path}; hatched: {is_unknown.mean():.0%} of the picture")
print(f"unknown: {np.count_nonzero(model.predict_or_reject(X, 0.8) < 0)} of {len(X)} irises")
