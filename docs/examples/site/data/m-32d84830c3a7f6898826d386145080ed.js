unixmark.values("integer-add-subtract;integer add%2Fsubtract;MOP%2Fs;Rate",{"40a3c682fbdf475f6d01a52fe956c759":[[1137.0,null,null],[4548.0,null,null],null,null]});
