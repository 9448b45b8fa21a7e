UPDATE door SET revision = revision + 1
