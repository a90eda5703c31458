unixmark.values("dc",{"fe70163cb3370206":[[920.8,null,null],null,null,null]});
