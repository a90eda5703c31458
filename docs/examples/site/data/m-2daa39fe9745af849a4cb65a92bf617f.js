unixmark.values("memory-move-5-mb;memory move 5 MB;GB%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[5.1,null,null],[5.6,null,null],null,null]});
