unixmark.values("thread-start-exit;thread start%2Fexit;KOP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[148.0,null,null],[564.0,null,null],null,null]});
