unixmark.values("index.byte3",{"fe70163cb3370206":[[1.08049,null,null],null,null,null]});
