unixmark.values("fswrite30",{"fe70163cb3370206":[[2266.0,null,null],null,null,null]});
