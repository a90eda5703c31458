unixmark.values("double-multiply-divide;double multiply%2Fdivide;MOP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[226.0,null,null],[904.0,null,null],null,null]});
