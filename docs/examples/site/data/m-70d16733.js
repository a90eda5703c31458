unixmark.values("long",{"fe70163cb3370206":[[3237.0,null,null],null,null,null]});
