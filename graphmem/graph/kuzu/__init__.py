"""The engines Kuzu and LadybugDB, which continues it: everything of this package that knows them."""
