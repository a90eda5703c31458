unixmark.values("integer-multiply-divide;integer multiply%2Fdivide;MOP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[371.0,null,null],[1484.0,null,null],null,null]});
