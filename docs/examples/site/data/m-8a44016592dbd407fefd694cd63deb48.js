unixmark.values("memory-move-500-kb;memory move 500 KB;GB%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[8.9,null,null],[16.4,null,null],null,null]});
