unixmark.values("fsread10",{"fe70163cb3370206":[[52.0,null,null],null,null,null]});
