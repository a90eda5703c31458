unixmark.values("memory-move-5-kb;memory move 5 KB;GB%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[20.8,null,null],[83.2,null,null],null,null]});
