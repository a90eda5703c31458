unixmark.values("subprocess-start-exit;subprocess start%2Fexit;OP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[871.0,null,null],[2388.0,null,null],null,null]});
