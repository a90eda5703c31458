unixmark.runs([["40a3c682fbdf475f6d01a52fe956c759","40a3c682fbdf475f6d01a52fe956c759","Intel Core i7 920, 4 cores, 2.67 GHz","","205ee7dde25a5e78ad0a46edc849791a","0 CPUs",[0,0,0,0],["imported"]]]);
