unixmark.values("shell4",{"fe70163cb3370206":[[4.0,null,null],null,null,null]});
