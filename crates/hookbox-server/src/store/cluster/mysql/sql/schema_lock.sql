SELECT GET_LOCK('hookbox', 30)
