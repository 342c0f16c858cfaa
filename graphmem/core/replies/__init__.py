"""How answers read for a model: the same in lines and as an object, with hints that name tools."""
