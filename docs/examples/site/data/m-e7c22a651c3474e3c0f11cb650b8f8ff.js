unixmark.values("pow-imported;pow;MOP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[30.0,null,null],[120.0,null,null],null,null]});
