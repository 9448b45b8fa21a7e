UPDATE hookbox.door SET revision = revision WHERE false
