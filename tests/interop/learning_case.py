"""What the cases of losses, metrics and optimizers have in common."""
import numpy as np


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Case:
    """What our half is told (`settings`, `arrays`) and what Keras says (`expected`)."""

    def __init__(self, name, **settings):
        self.name, self.settings = name, settings
        self.arrays, self.expected = {}, {}

    def but(self, **changes):
        """The same done in another way, to the same end."""
        label = ", ".join(f"{key} {value}" for key, value in changes.items())
        other = Case(f"{self.name}, {label}", **{**self.settings, **changes})
        other.arrays, other.expected = self.arrays, self.expected
        return other
