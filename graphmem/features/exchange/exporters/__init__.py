"""Records and edges in the forms of programs that draw, compute or read: a module for each form."""
