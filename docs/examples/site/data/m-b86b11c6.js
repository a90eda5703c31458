unixmark.values("dhry2",{"fe70163cb3370206":[[30519.5,null,null],null,null,null]});
