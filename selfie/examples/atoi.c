int atoi(int *s) { 
    int i; 
    int n; 
    int c; 

    i = 0; 
    n = 0; 
    c = *(s+i); 

    while (c != 0) { 
        n = n * 10 + c - '0'; 
        if (n < 0) 
            return -1; 

        i = i + 1; 
        c = *(s+i); 
    } 

    return n; 
}
