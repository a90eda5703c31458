unixmark.values("asin-imported;asin;MOP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[34.0,null,null],[136.0,null,null],null,null]});
