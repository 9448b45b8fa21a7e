UPDATE hookbox.door SET revision = revision + 1
