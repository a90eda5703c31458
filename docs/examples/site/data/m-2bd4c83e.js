unixmark.values("int",{"fe70163cb3370206":[[3237.9,null,null],null,null,null]});
