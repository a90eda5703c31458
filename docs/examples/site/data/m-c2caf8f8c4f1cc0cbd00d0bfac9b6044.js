unixmark.values("double-square-root;double square root;MOP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[83.0,null,null],[328.0,null,null],null,null]});
