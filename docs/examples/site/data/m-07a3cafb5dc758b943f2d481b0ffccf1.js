unixmark.values("double-add-subtract;double add%2Fsubtract;MOP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[521.0,null,null],[2084.0,null,null],null,null]});
