"""Here is a text; which vector stands for its meaning?

``encoder`` is the door: it loads a model of the ``registry`` in the background and says whether it is
loading, ready or failed.
"""
