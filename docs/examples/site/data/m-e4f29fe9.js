unixmark.values("shell2",{"fe70163cb3370206":[[7.7,null,null],null,null,null]});
