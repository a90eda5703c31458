unixmark.values("latency-ram",{"50c37d14b04722dc882e0146c435856f":[[163.345,159.7,167.549],[168.028,161.562,170.653],null,null]});
