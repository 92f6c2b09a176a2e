"""SLMC is a scikit-learn estimator: tune it in a pipeline with a grid search, then convert the winner."""

from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

import sparsegen

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

pipeline = Pipeline([("scale", MinMaxScaler()), ("classify", sparsegen.SLMC(random_state=0))])
grid = {"classify__n_vectors": [3, 6], "classify__C": [1.0, 10.0]}
search = GridSearchCV(pipeline, grid, cv=3).fit(X_train, y_train)

model = sparsegen.from_sklearn(search)
agree = (model.predict(X_test) == search.predict(X_test)).all()
print(f"chosen: {search.best_params_}")
print(f"test accuracy {search.score(X_test, y_test):.1%} with {model.n_vectors} vectors")
print(f"same labels as scikit-learn: {agree}")
