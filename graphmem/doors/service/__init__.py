"""A process that answers the commands of one project: it has imported, and it has the model in memory."""
