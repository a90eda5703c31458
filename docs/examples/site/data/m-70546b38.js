unixmark.values("fswrite10",{"fe70163cb3370206":[[2200.0,null,null],null,null,null]});
