unixmark.values("memory-move-50-kb;memory move 50 KB;GB%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[12.2,null,null],[48.8,null,null],null,null]});
