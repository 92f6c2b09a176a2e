"""From a data set to a model: train, choose parameters, convert what scikit-learn has fitted."""
