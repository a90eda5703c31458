unixmark.values("sin-imported;sin;MOP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[40.0,null,null],[160.0,null,null],null,null]});
