unixmark.values("float",{"fe70163cb3370206":[[2741.8,null,null],null,null,null]});
