unixmark.values("memory-move-50-mb;memory move 50 MB;GB%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[4.0,null,null],[5.6,null,null],null,null]});
