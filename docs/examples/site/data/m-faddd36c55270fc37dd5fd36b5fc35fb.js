unixmark.values("fibonacci-44;Fibonacci 44;s;Time",{"40a3c682fbdf475f6d01a52fe956c759":[[12.4,null,null],[12.1,null,null],null,null]});
