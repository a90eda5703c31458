unixmark.values("hanoi",{"fe70163cb3370206":[[508.4,null,null],null,null,null]});
