unixmark.values("fscopy10",{"fe70163cb3370206":[[214.0,null,null],null,null,null]});
