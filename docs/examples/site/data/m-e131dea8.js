unixmark.values("double",{"fe70163cb3370206":[[2951.1,null,null],null,null,null]});
