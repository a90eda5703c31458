unixmark.values("mutex-lock-unlock;mutex lock%2Funlock;MOP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[40.0,null,null],[5.48,null,null],null,null]});
