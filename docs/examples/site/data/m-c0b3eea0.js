unixmark.values("register",{"fe70163cb3370206":[[3230.0,null,null],null,null,null]});
