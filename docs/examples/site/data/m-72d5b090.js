unixmark.values("fscopy30",{"fe70163cb3370206":[[139.0,null,null],null,null,null]});
