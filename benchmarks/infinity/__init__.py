"""The shipped model behind the Infinity server (PyPI infinity-emb), for `make bench-engine`.

folder.py writes the model as a folder of transformers, mean_bert.py is its class there, server.py installs, starts
and asks the server.
"""
