unixmark.values("fsread30",{"fe70163cb3370206":[[10190.0,null,null],null,null,null]});
