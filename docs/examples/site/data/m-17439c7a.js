unixmark.values("arithoh",{"fe70163cb3370206":[[1451220.0,null,null],null,null,null]});
