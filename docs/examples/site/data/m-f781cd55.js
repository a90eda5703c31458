unixmark.values("short",{"fe70163cb3370206":[[3511.9,null,null],null,null,null]});
